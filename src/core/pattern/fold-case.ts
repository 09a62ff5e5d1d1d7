// How texts and patterns lose their case before they are compared. ASCII stays apart from the rest:
// a Kelvin sign that became a `k` would make `_Ke` the tracking parameter `_ke`.

/** The only characters outside ASCII whose lower case has an ASCII letter: dotted I and Kelvin. */
const FOLDS_TO_ASCII = /[\u0130\u212a]/;
const OTHER_RUNS = /[^\u0130\u212a]+/g;

/** Lower case, in which nothing but `A-Z` becomes `a-z`. */
export function foldCase(text: string): string {
  if (!FOLDS_TO_ASCII.test(text)) return text.toLowerCase();
  return text.replace(OTHER_RUNS, (run) => run.toLowerCase());
}
