export { SharePage } from './lazy.ts'
export { keepOfflineData } from './offline-data.ts'
export { registerServiceWorker } from './update-check.ts'
export { UpdateHint } from './update-hint.tsx'
