export { DocumentTexts } from './document-texts.ts'
export { alwaysHasThumbnail, hasThumbnail, isPicture } from './sources.ts'
export { thumbnailSizeFor } from './thumbnail-sizes.ts'
export { Thumbnails } from './thumbnails.ts'
