import { type ComponentType, createContext } from 'react'

interface PickedFolder {
  readonly libraryId: string
  readonly libraryName: string
  readonly path: string
}

/** A dialog that asks for a folder. */
export type FolderPickerComponent = ComponentType<{
  title: string
  submit: string
  start?: PickedFolder
  onChoose: (place: PickedFolder) => Promise<unknown>
  onClose: () => void
}>

/** The folder picker. The app passes it to the viewer, because its module imports this one. */
export const FolderPickerSlot = createContext<FolderPickerComponent | undefined>(undefined)
