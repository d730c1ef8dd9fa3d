export { CommentList, TagEditor, TagFilesDialog, TagsPage } from './lazy.ts'
export { TagChips } from './tag-chips.tsx'
