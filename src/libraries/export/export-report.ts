/** Skipped items that a report lists. The others are counted. */
const LISTED = 1000

/** An item that was not written, and why. */
interface SkippedItem {
  readonly path: string
  readonly reason: string
}

/** What an export wrote. */
export class ExportReport {
  files = 0
  bytes = 0
  /** Files that were already there with the same size and time, from an earlier run. */
  unchanged = 0
  /** Commits of the git repository. */
  commits = 0
  /** The first thousand. A path that several commits have is listed once. */
  readonly skipped: SkippedItem[] = []
  moreSkipped = 0
  readonly #listed = new Set<string>()

  skip(path: string, reason: string): void {
    if (this.#listed.has(path)) return
    if (this.skipped.length === LISTED) {
      this.moreSkipped += 1
      return
    }
    this.#listed.add(path)
    this.skipped.push({ path, reason })
  }
}

/** The export cannot be made. The message is one sentence that says what to do. */
export class ExportError extends Error {
  override name = 'ExportError'
}
