// Dates of HTTP (RFC 9110 §5.6.7): written in the one form, read in all three.

const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec';
const IMF = /^[A-Z][a-z]{2}, (\d{2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/;
const RFC850 = /^[A-Z][a-z]+, (\d{2})-([A-Z][a-z]{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2}) GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([ \d]\d) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/;

/** `Sun, 06 Nov 1994 08:49:37 GMT` */
export function formatHttpDate(epochMs: number): string {
  return new Date(epochMs).toUTCString();
}

/** Epoch milliseconds of an HTTP date, or null when it isn't one. */
export function parseHttpDate(text: string): number | null {
  const trimmed = text.trim();
  const imf = IMF.exec(trimmed);
  if (imf !== null) return toEpochMs(imf[3], imf[2], imf[1], imf.slice(4, 7));
  const rfc850 = RFC850.exec(trimmed);
  // Two digits: RFC 9110 wants the past for years over 50 ahead; in 2000–2069 that is this split.
  const year = rfc850 === null ? 0 : Number(rfc850[3]);
  if (rfc850 !== null) {
    return toEpochMs(
      String(year + (year < 70 ? 2000 : 1900)),
      rfc850[2],
      rfc850[1],
      rfc850.slice(4, 7),
    );
  }
  const asctime = ASCTIME.exec(trimmed);
  if (asctime !== null) return toEpochMs(asctime[6], asctime[1], asctime[2], asctime.slice(3, 6));
  return null;
}

function toEpochMs(
  year: string | undefined,
  monthName: string | undefined,
  day: string | undefined,
  time: readonly string[],
): number | null {
  const month = MONTHS.indexOf(monthName ?? '?') / 3;
  const [hours = 99, minutes = 99, seconds = 99] = time.map(Number);
  const dayOfMonth = Number(day);
  if (!Number.isInteger(month) || hours > 23 || minutes > 59 || seconds > 60) return null;
  const epochMs = Date.UTC(Number(year), month, dayOfMonth, hours, minutes, seconds);
  // The 31st of April would have become the 1st of May.
  return new Date(epochMs - seconds * 1000).getUTCDate() === dayOfMonth ? epochMs : null;
}
