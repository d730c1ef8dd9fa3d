export type { Place } from './folder-picker.tsx'
export { FolderPage, LazyFolderPicker, SmartLinkPage, VisitedFolderPage } from './lazy.ts'
export { LibraryTree } from './library-tree.tsx'
export { useThumbnail } from './thumbnails.ts'
