export type { ImageSource } from './image-formats.ts'
export { Images } from './images.ts'
