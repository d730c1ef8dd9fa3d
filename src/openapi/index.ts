import * as kinds from './kinds.ts'

export { type DescribedSurface, describeApi, type Examples } from './document.ts'
export { bytes, empty, json, operation, plain } from './operation.ts'
export { kinds }
