import { onSessionChange, token } from '../api/index.ts'

/** What somebody wrote and did not save before the page went away under it. */
export interface Draft {
  /** The content it was written over. */
  readonly id: string
  readonly baseline: string
  readonly text: string
}

const drafts = new Map<string, Draft>()

// Nothing of one account is left for the next.
onSessionChange(() => {
  if (token() === undefined) drafts.clear()
})

const keyOf = (libraryId: string, path: string) => libraryId + path

export function keepDraft(libraryId: string, path: string, draft: Draft): void {
  drafts.set(keyOf(libraryId, path), draft)
}

export function findDraft(libraryId: string, path: string): Draft | undefined {
  return drafts.get(keyOf(libraryId, path))
}

export function dropDraft(libraryId: string, path: string): void {
  drafts.delete(keyOf(libraryId, path))
}
