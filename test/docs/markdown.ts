// The code blocks of a Markdown file, and the sessions in them.

export interface CodeBlock {
  readonly language: string;
  readonly text: string;
  /** Of its first line, starting at 1. */
  readonly line: number;
}

export interface SessionStep {
  readonly command: string;
  /** `…` in a line stands for any text. */
  readonly output: readonly string[];
}

const FENCE = /^```(\w*)\n([\s\S]*?)^```$/gm;

/** Every fenced block, in order. */
export function findBlocks(markdown: string, language?: string): readonly CodeBlock[] {
  return [...markdown.matchAll(FENCE)]
    .map((match) => ({
      language: match[1] ?? '',
      text: match[2] ?? '',
      line: markdown.slice(0, match.index).split('\n').length + 1,
    }))
    .filter((block) => language === undefined || block.language === language);
}

/** A `console` block: lines that start with `$ `, each with what it prints. */
export function readSession(block: CodeBlock): readonly SessionStep[] {
  const steps: { command: string; output: string[] }[] = [];
  for (const line of block.text.trimEnd().split('\n')) {
    if (line.startsWith('$ ')) steps.push({ command: line.slice(2), output: [] });
    else steps.at(-1)?.output.push(line);
  }
  return steps;
}

/** An expected line as an expression for the whole line. */
export function lineExpression(line: string): RegExp {
  const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return new RegExp(`^${line.split('…').map(literal).join('.*')}$`);
}
