export { ArchiveTray } from './archive-tray.tsx'
export { startArchive } from './archives.ts'
