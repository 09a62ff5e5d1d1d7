// An explanation for people: the same facts as the JSON, as aligned lines.
import type { Explanation } from '../core/decision/explain-decision.ts';

const LABEL_WIDTH = 12;

/** What caches in front are told. */
const DOWNSTREAM_WORDS: Readonly<Record<NonNullable<Explanation['downstream']>, string>> = {
  private: 'private: no cache in front keeps the page',
  vary: 'vary: caches in front keep the page by User-Agent',
  origin: 'origin: caches in front are told what the site says of the page',
  as_sent: 'as_sent: caches in front are told what the site says',
  html_varies: 'html_varies: caches in front keep HTML by User-Agent',
  html_unkept: 'html_unkept: no cache in front keeps HTML',
  unkept: 'unkept: no cache in front keeps the answer',
};

const DROPPED_FOR = {
  default_value: 'equals normalization.default_values',
  empty_value: 'has no value',
} as const;

type Line = readonly [label: string, text: string];

export function formatExplanation(explanation: Explanation): string {
  const { host, dimension, bot, rule } = explanation;
  const lines: Line[] = [['input', explanation.input]];
  for (const { step, before, after } of explanation.steps) {
    lines.push([
      `  ${step}`,
      `${before === '' ? '(none)' : before} → ${after === '' ? '(none)' : after}`,
    ]);
  }
  for (const { name, pattern, level } of explanation.stripped) {
    lines.push(['  stripped', `${name} (pattern ${pattern}, ${level})`]);
  }
  for (const { name, reason } of explanation.dropped) {
    lines.push(['  dropped', `${name} (${DROPPED_FOR[reason]})`]);
  }
  if (explanation.learned !== null) {
    const { rule: variance, for: address, from, at } = explanation.learned;
    lines.push(['  learned', `${variance} for ${address} (from ${from}, ${at})`]);
  }
  if (explanation.error !== null) lines.push(['error', explanation.error]);
  else lines.push(['normalized', explanation.normalized ?? ''], ['hash', explanation.hash ?? '']);
  lines.push(
    [
      'host',
      host === null ? 'not configured: the global policy applies' : `${host.id} ${host.domain}`,
    ],
    ['dimension', dimension === null ? '(none)' : describeDimension(dimension)],
    ['bot', bot === null ? '(none)' : describeBot(bot)],
    ['rule', rule === null ? '(none)' : `${rule.id} (${rule.match})`],
    ['action', `${explanation.action}, because: ${explanation.reason}`],
  );
  if (explanation.status !== null) lines.push(['status', String(explanation.status)]);
  if (explanation.location !== null) lines.push(['location', explanation.location]);
  lines.push(...describeKey(explanation));
  lines.push(['cached', describeCached(explanation)], ['would', describeWould(explanation)]);
  const { downstream } = explanation;
  if (downstream !== null) lines.push(['downstream', DOWNSTREAM_WORDS[downstream]]);
  return lines.map(([label, text]) => `${label.padEnd(LABEL_WIDTH)} ${text}\n`).join('');
}

function describeCached({ cached, partial }: Explanation): string {
  return partial ? `${cached}, partial: it was not ready when it was captured` : cached;
}

function describeKey({ key, file, action, reason }: Explanation): readonly Line[] {
  const fields: readonly Line[] = [
    ['key', key ?? ''],
    ['file', file ?? ''],
  ];
  if (key !== null) return fields;
  return action === 'bypass' ? [['no key', `passed on and not kept, because: ${reason}`]] : [];
}

function describeWould({ would, may_keep: mayKeep }: Explanation): string {
  const keeps = would === 'bypass' && mayKeep;
  return keeps ? `${would}, and keep the answer where its origin lets it be kept` : would;
}

function describeDimension(dimension: NonNullable<Explanation['dimension']>): string {
  const by = dimension.matched_by;
  const why = by === null ? 'no pattern matched' : `matched ${by}`;
  return `${dimension.id} ${dimension.name} (${why})`;
}

function describeBot({ owner, token, kind, verdict, by }: NonNullable<Explanation['bot']>): string {
  return `${token} of ${owner} (${kind}), ${verdict}: ${by}`;
}
