export { Commands, showCommands } from './commands.tsx'
export { useProvidedActions } from './provided-actions.ts'
export { useShortcut } from './use-shortcut.ts'
