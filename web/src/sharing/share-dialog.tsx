/** What to share: a library is its root folder. */
export interface Shared {
  readonly libraryId: string
  readonly path: string
  readonly name: string
  readonly isDir: boolean
}

export function ShareDialog(_props: Shared & { onClose: () => void }) {
  return null
}
