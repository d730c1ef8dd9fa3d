export { TaskTray } from './task-tray.tsx'
export { trackTask } from './tasks.ts'
export { recordMove, type Target, useUndoMove } from './undo-move.ts'
