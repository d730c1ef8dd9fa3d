export { HistoryPage, TrashPage } from './lazy.ts'
export { RestoreDialog } from './restore-dialog.tsx'
