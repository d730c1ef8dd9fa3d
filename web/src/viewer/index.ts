export { clearDrafts, deleteDraft, hasWantedDrafts, listDrafts, type StoredDraft } from './drafts.ts'
export { DraftSaver, FilePage, preloadViewer, VisitedFilePage } from './lazy-parts.ts'
