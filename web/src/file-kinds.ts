/** The kind of a file by its extension, which selects icon and viewer. */
export type Kind =
  | 'image'
  | 'video'
  | 'audio'
  | 'pdf'
  | 'markdown'
  | 'text'
  | 'code'
  | 'document'
  | 'spreadsheet'
  | 'presentation'
  | 'archive'
  | 'other'

const extensions: Readonly<Record<Exclude<Kind, 'other'>, string>> = {
  image: 'jpg jpeg png gif webp avif bmp ico svg tif tiff heic heif',
  video: 'mp4 m4v webm ogv mov mkv avi',
  audio: 'mp3 m4a aac ogg oga opus wav flac weba',
  pdf: 'pdf',
  markdown: 'md markdown mdown',
  text: 'txt log csv tsv ini cfg conf env properties nfo srt vtt tex bib diff patch',
  code: 'js mjs cjs ts tsx jsx json jsonc json5 html htm xml css scss less py rb go rs java kt swift c h cc cpp hpp cs php pl lua r sql sh bash zsh fish ps1 bat yml yaml toml lock gradle dockerfile makefile vue svelte dart scala clj ex exs erl hs ml',
  document: 'doc docx odt rtf epub pages eml',
  spreadsheet: 'xls xlsx ods numbers',
  presentation: 'ppt pptx odp key',
  archive: 'zip tar gz tgz bz2 xz 7z rar zst',
}

const kinds = new Map<string, Kind>(
  Object.entries(extensions).flatMap(([kind, list]) => list.split(' ').map((one) => [one, kind as Kind])),
)

export function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot < 0 ? '' : name.slice(dot + 1).toLowerCase()
}

export function kindOf(name: string): Kind {
  return kinds.get(extensionOf(name)) ?? kinds.get(name.toLowerCase()) ?? 'other'
}

/** SVG can contain scripts, so the server sends it as an attachment. */
export const isSvg = (name: string) => extensionOf(name) === 'svg'

/** Images that browsers can display directly, without SVG. */
export const isPicture = (name: string) => kindOf(name) === 'image' && !isSvg(name)
