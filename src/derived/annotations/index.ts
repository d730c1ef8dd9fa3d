export { annotationBinding, annotationRows } from './annotated-file-store.ts'
export type { AnnotationEvent } from './annotation-event.ts'
export { findAnnotationFaults, repairAnnotations } from './annotation-faults-store.ts'
export {
  type AnnotationQuery,
  findAnnotated,
  findCommented,
  parseAnnotationQuery,
} from './annotation-search.ts'
export { indexComments } from './comment-index.ts'
export type { Comment } from './comment-store.ts'
export { Comments } from './comments.ts'
export { deleteMissingFiles } from './missing-files.ts'
export { restoreAnnotations } from './restored-annotations-store.ts'
export type { FileTag, Tag } from './tag-store.ts'
export { Tags } from './tags.ts'
