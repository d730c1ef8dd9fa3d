export { HistoryPage, MergedTrashPage, TrashPage } from './lazy.ts'
export { RestoreDialog } from './restore-dialog.tsx'
