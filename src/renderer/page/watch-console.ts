// What a page complains about, bounded: console errors and exceptions that nobody caught.
import type { Page } from 'playwright-core';
import { RENDER_LIMITS } from '../limits.ts';

/** Starts listening; the list grows until it is full. */
export function watchConsole(page: Page): readonly string[] {
  const errors: string[] = [];
  const add = (text: string): void => {
    if (errors.length < RENDER_LIMITS.consoleErrorsMax) {
      // Controls and halves of characters would grow sixfold in JSON.
      errors.push(text.slice(0, RENDER_LIMITS.noteCharsMax).replace(/[\p{Cc}\p{Cs}]/gu, ' '));
    }
  };
  page.on('console', (message) => {
    if (message.type() === 'error') add(message.text());
  });
  page.on('pageerror', (error) => add(`${error.name}: ${error.message}`));
  return errors;
}
