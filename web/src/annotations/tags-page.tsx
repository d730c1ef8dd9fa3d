import './annotations.css'
import './tags-page.css'
import { useQueryClient } from '@tanstack/react-query'
import { ArrowLeft, Merge, Pencil, Plus, Tags as TagsIcon, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation, useParams } from 'wouter'
import {
  canEdit,
  deleteTag,
  type LibraryDetail,
  type LibraryTag,
  useLibrary,
  useLibraryTags,
} from '../api/index.ts'
import { folderUrl, tagsUrl, useQueryParams } from '../navigation/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Button, ConfirmDialog, Empty, IconButton, LoadError, useTitle, Waiting } from '../ui/index.ts'
import { safeColor } from './tag-colors.ts'
import { MergeTagDialog, TagDialog } from './tag-dialogs.tsx'
import { TaggedFiles } from './tagged-files.tsx'

type OpenDialog =
  | { readonly kind: 'new' }
  | { readonly kind: 'edit' | 'merge' | 'delete'; readonly tag: LibraryTag }

/** The tags of a library, and the files with one of them. */
export default function TagsPage() {
  const { id } = useParams<{ id: string }>()
  const library = useLibrary(id)
  const tags = useLibraryTags(id)
  const failed = library.error ?? tags.error
  if (library.data !== undefined && tags.data !== undefined)
    return <LoadedTags library={library.data} tags={tags.data} />
  if (!failed) return <Waiting />
  const retry = () => void Promise.all([library.refetch(), tags.refetch()])
  return <LoadError error={failed} onRetry={retry} />
}

function LoadedTags(props: { library: LibraryDetail; tags: readonly LibraryTag[] }) {
  const { library, tags } = props
  const libraryId = library.repo_id
  const texts = useTexts('annotations')
  const common = useTexts('common')
  const formats = useFormats()
  const queries = useQueryClient()
  const [, go] = useLocation()
  const query = useQueryParams()
  const [dialog, setDialog] = useState<OpenDialog>()
  const chosen = tags.find(({ repo_tag_id }) => String(repo_tag_id) === query.get('tag'))
  useTitle(chosen === undefined ? texts.tags : `${chosen.tag_name} · ${texts.tags}`)
  // Tags of a shared folder are managed in its library.
  const mayManage = canEdit(library) && !library.is_virtual
  const close = () => setDialog(undefined)
  const refresh = () =>
    Promise.all(
      [
        ['tags', libraryId],
        ['dir', libraryId],
      ].map((queryKey) => queries.invalidateQueries({ queryKey })),
    )
  const sorted = tags.toSorted((a, b) => a.tag_name.localeCompare(b.tag_name))
  return (
    <div className="page tags-page">
      <div className="page-head">
        <h1>{texts.tags}</h1>
        {mayManage && (
          <Button variant="primary" icon={Plus} onClick={() => setDialog({ kind: 'new' })}>
            {texts.newTag}
          </Button>
        )}
      </div>
      <p className="tags-where">
        <Link to={folderUrl(libraryId)}>
          <ArrowLeft size={16} aria-hidden />
          <bdi>{library.repo_name}</bdi>
        </Link>
      </p>
      {sorted.length === 0 ? (
        <Empty icon={TagsIcon} title={texts.noTags} hint={texts.noTagsHint} />
      ) : (
        <nav aria-label={texts.tags}>
          <ul className="tags-all">
            {sorted.map((tag) => (
              <li key={tag.repo_tag_id}>
                <Link
                  to={tag === chosen ? tagsUrl(libraryId) : tagsUrl(libraryId, tag.repo_tag_id)}
                  className="tags-one"
                  aria-current={tag === chosen ? 'true' : undefined}
                >
                  <span className="tag-dot" style={{ background: safeColor(tag.tag_color) }} />
                  <bdi>{tag.tag_name}</bdi>
                  <span
                    className="muted"
                    aria-label={texts.filesWith(tag.files_count, formats.number(tag.files_count))}
                  >
                    {formats.number(tag.files_count)}
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        </nav>
      )}
      {chosen !== undefined && (
        <section className="stack" aria-label={chosen.tag_name}>
          <div className="tags-chosen">
            <h2>
              <span className="tag-dot" style={{ background: safeColor(chosen.tag_color) }} />
              <bdi>{chosen.tag_name}</bdi>
            </h2>
            {mayManage && (
              <span className="row-actions">
                <IconButton
                  label={texts.editTag}
                  icon={Pencil}
                  onClick={() => setDialog({ kind: 'edit', tag: chosen })}
                />
                {tags.length > 1 && (
                  <IconButton
                    label={texts.mergeTag}
                    icon={Merge}
                    onClick={() => setDialog({ kind: 'merge', tag: chosen })}
                  />
                )}
                <IconButton
                  label={texts.deleteTag}
                  icon={Trash2}
                  onClick={() => setDialog({ kind: 'delete', tag: chosen })}
                />
              </span>
            )}
          </div>
          <TaggedFiles key={chosen.repo_tag_id} library={library} tag={chosen} />
        </section>
      )}
      {sorted.length > 0 && chosen === undefined && <p className="muted">{texts.chooseTag}</p>}
      {(dialog?.kind === 'new' || dialog?.kind === 'edit') && (
        <TagDialog
          libraryId={libraryId}
          tags={tags}
          tag={dialog.kind === 'edit' ? dialog.tag : undefined}
          onSaved={refresh}
          onClose={close}
        />
      )}
      {dialog?.kind === 'merge' && (
        <MergeTagDialog
          libraryId={libraryId}
          tag={dialog.tag}
          others={sorted.filter((one) => one.repo_tag_id !== dialog.tag.repo_tag_id)}
          onMerged={async (into) => {
            go(tagsUrl(libraryId, into))
            await refresh()
          }}
          onClose={close}
        />
      )}
      {dialog?.kind === 'delete' && (
        <ConfirmDialog
          title={texts.deleteTagTitle(dialog.tag.tag_name)}
          text={texts.deleteTagHint(dialog.tag.files_count, formats.number(dialog.tag.files_count))}
          submit={common.delete}
          onConfirm={async () => {
            await deleteTag(libraryId, dialog.tag.repo_tag_id)
            go(tagsUrl(libraryId))
            await refresh()
          }}
          onClose={close}
        />
      )}
    </div>
  )
}
