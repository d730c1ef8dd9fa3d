export { type DescribedSurface, describeApi, descriptionText } from './document.ts'
