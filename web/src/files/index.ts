export type { Place } from './folder-picker.tsx'
export { FolderPage, LazyFolderPicker, SmartLinkPage } from './lazy.ts'
