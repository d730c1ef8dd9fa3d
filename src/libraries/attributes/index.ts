export { attributeBindings, attributeRows } from './attribute-rows-store.ts'
export { checksumsOf, type FileChecksums, keepChecksums } from './file-checksums.ts'
export {
  changeProperties,
  type PropertySizes,
  propertiesOf,
  propertiesOfAll,
  propertySizesIn,
  refusePropertyGrowth,
} from './properties.ts'
export type { DeadProperty } from './property-store.ts'
export { getSmartLink, smartLinkTo } from './smart-links.ts'
export { insertStar } from './star-store.ts'
export { addStar, isStarred, removeStar, starredIn, starredLibraries, starsOf } from './stars.ts'
