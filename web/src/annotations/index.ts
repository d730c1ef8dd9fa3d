export { CommentList, TagEditor } from './lazy.ts'
export { TagDots } from './tag-dots.tsx'
