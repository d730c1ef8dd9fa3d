import { lazy } from 'react'

/** Entry points of the module that are loaded on demand, each as a chunk of its own. */

export const CommentList = lazy(() => import('./comment-list.tsx'))
export const TagEditor = lazy(() => import('./tag-editor.tsx'))
export const TagFilesDialog = lazy(() => import('./tag-files-dialog.tsx'))
export const TagsPage = lazy(() => import('./tags-page.tsx'))
