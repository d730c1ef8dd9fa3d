export type { Place } from './folder-picker.tsx'
export { FolderPage, LazyFolderPicker, SmartLinkPage } from './lazy.ts'
export { LibraryTree } from './library-tree.tsx'
export { useThumbnail } from './thumbnails.ts'
