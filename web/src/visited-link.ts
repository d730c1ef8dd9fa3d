/** A link, as the server describes it to the page of a visitor. */
export interface VisitedLink {
  readonly token: string
  /** The name of the shared item. */
  readonly name: string
  readonly isDir: boolean
  /** Only of a link to a file: its size in bytes, and when it was modified, in Unix seconds. */
  readonly file?: { readonly size: number; readonly mtime: number }
  /** What the page may offer. The server checks every request itself. */
  readonly canDownload: boolean
  /** The largest thumbnail that the link permits, in pixels, if it permits no downloads. */
  readonly largestPreview?: number
  /** The name of the person who shares it. */
  readonly sharedBy: string
  /** Unix seconds. */
  readonly expiresAt?: number
}

/** The link that the page belongs to. Undefined in the app of members. */
export const visitedLink: VisitedLink | undefined = described(
  document.querySelector<HTMLMetaElement>('meta[name="visited-link"]')?.content,
)

function described(text: string | undefined): VisitedLink | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as VisitedLink)
}
