// The foreign contracts by the names that `render.service.protocol` gives them.
import type { Protocol } from '../service.ts';
import { speakForeign } from './ask-foreign.ts';
import { browserless } from './browserless.ts';
import { prerender } from './prerender.ts';
import { rendertron } from './rendertron.ts';

export type ForeignProtocol = 'prerender' | 'rendertron' | 'browserless';

export const foreignProtocols: Readonly<Record<ForeignProtocol, Protocol>> = {
  prerender: speakForeign(prerender),
  rendertron: speakForeign(rendertron),
  browserless: speakForeign(browserless),
};
