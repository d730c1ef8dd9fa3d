export { ActivityPage } from './lazy.ts'
export { NotificationBell } from './notification-bell.tsx'
