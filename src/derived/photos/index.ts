export { photoRows } from './photo-store.ts'
export { Photos } from './photos.ts'
export type { SeenPhoto } from './timeline.ts'
export type { Mark } from './timeline-store.ts'
