export { DocumentTexts } from './document-texts.ts'
export { alwaysHasThumbnail, hasThumbnail, isPicture } from './sources.ts'
export { Thumbnails, thumbnailSizeFor } from './thumbnails.ts'
