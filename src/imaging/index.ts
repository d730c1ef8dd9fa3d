export { Images } from './images.ts'
