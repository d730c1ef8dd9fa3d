export { DocumentTexts } from './document-texts.ts'
export { hasThumbnail } from './sources.ts'
export { thumbnailSizeFor } from './thumbnail-sizes.ts'
export { Thumbnails } from './thumbnails.ts'
