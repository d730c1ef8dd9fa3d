/** Unsaved text of a file whose page was left. */
export interface Draft {
  /** Id of the content the text was based on. */
  readonly id: string
  readonly baseline: string
  readonly text: string
}

const drafts = new Map<string, Draft>()

/** Drafts belong to an account: another one that signs in after a session has expired sees nothing of them. */
const keyOf = (account: string, libraryId: string, path: string) => `${account}\n${libraryId}${path}`

export function saveDraft(account: string, libraryId: string, path: string, draft: Draft): void {
  drafts.set(keyOf(account, libraryId, path), draft)
}

export function findDraft(account: string | undefined, libraryId: string, path: string): Draft | undefined {
  return account === undefined ? undefined : drafts.get(keyOf(account, libraryId, path))
}

export function deleteDraft(account: string | undefined, libraryId: string, path: string): void {
  if (account !== undefined) drafts.delete(keyOf(account, libraryId, path))
}

/** At sign-out. */
export function clearDrafts(): void {
  drafts.clear()
}
