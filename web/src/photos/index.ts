export { PhotosPage } from './lazy.ts'
