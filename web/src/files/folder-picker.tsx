/** A folder somebody chose. */
export interface Place {
  readonly libraryId: string
  readonly libraryName: string
  readonly path: string
}

/** A dialog with the tree of all libraries that can be written to; `submit` names what will happen. */
export function FolderPicker(_props: {
  title: string
  submit: string
  start?: Place
  onChoose: (place: Place) => Promise<unknown>
  onClose: () => void
}) {
  return null
}
