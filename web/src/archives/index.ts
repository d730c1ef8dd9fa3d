export { ArchiveTray } from './archive-tray.tsx'
export { downloadFiles, startArchive, useArchives } from './archives.ts'
export { LazyArchiveTray } from './lazy.ts'
