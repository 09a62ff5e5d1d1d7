// Whether something is a page at all: by the suffix of the last path segment before a render, by
// Content-Type after. A dot elsewhere says nothing (`/blog/node.js-in-2026`, `/about.ai/team`),
// and an unknown suffix says nothing either (`/v1.2`).

/** Suffixes of files no crawler wants rendered. Words that are also names of sites are left out. */
const FILE_SUFFIXES: ReadonlySet<string> = new Set(
  [
    'css js mjs cjs map json jsonld webmanifest wasm',
    'xml rss atom txt csv tsv yaml yml ics vcf',
    'png jpg jpeg jpe gif webp avif svg svgz ico bmp tif tiff heic jxl',
    'woff woff2 ttf otf eot',
    'mp3 m4a aac ogg oga opus wav flac mid midi',
    'mp4 m4v webm ogv mov avi mkv mpg mpeg wmv flv m3u8 ts',
    'pdf doc docx xls xlsx ppt pptx odt ods odp rtf epub mobi',
    'zip gz tgz bz2 xz 7z rar tar zst br iso dmg exe msi apk deb rpm jar bin',
    'psd eps swf torrent',
  ].flatMap((line) => line.split(' ')),
);

/** False for a path that names a file of another kind than a page; the query doesn't count. */
export function isPagePath(path: string): boolean {
  const queryAt = path.indexOf('?');
  const bare = queryAt === -1 ? path : path.slice(0, queryAt);
  const dot = bare.lastIndexOf('.');
  // Nearly every path has none, and one before the last slash is in no suffix.
  if (dot === -1 || dot < bare.lastIndexOf('/')) return true;
  return !FILE_SUFFIXES.has(bare.slice(dot + 1).toLowerCase());
}

/** True for the media types that are rendered: HTML and XHTML, whatever their parameters. */
export function isHtml(contentType: string): boolean {
  const type = (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
  return type === 'text/html' || type === 'application/xhtml+xml';
}
