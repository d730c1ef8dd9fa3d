/** Unsaved text of a file whose page was left. */
interface Draft {
  /** Id of the content the text was based on. */
  readonly id: string
  readonly baseline: string
  readonly text: string
}

const drafts = new Map<string, Draft>()

const keyOf = (libraryId: string, path: string) => libraryId + path

export function saveDraft(libraryId: string, path: string, draft: Draft): void {
  drafts.set(keyOf(libraryId, path), draft)
}

export function findDraft(libraryId: string, path: string): Draft | undefined {
  return drafts.get(keyOf(libraryId, path))
}

export function deleteDraft(libraryId: string, path: string): void {
  drafts.delete(keyOf(libraryId, path))
}

/** At sign-out, so that the next account sees nothing of this one. */
export function clearDrafts(): void {
  drafts.clear()
}
