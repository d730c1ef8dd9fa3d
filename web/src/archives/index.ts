export { ArchiveTray } from './archive-tray.tsx'
export { downloadFiles, startArchive } from './archives.ts'
