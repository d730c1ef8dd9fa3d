import { useQueryClient } from '@tanstack/react-query'
import { Download, Share2, Tag as TagIcon, Tags, TagX, Trash2, X } from 'lucide-react'
import { type MouseEvent, useMemo, useState } from 'react'
import { Link } from 'wouter'
import {
  canDownload,
  canEdit,
  changeTagsOf,
  type LibraryDetail,
  type LibraryTag,
  type TaggedFile,
  useAccount,
  useTaggedFiles,
} from '../api/index.ts'
import { downloadFiles } from '../archives/index.ts'
import { fileUrl, folderUrl } from '../navigation/index.ts'
import { join } from '../paths.ts'
import { ShareDialog, ShareManyDialog } from '../sharing/index.ts'
import { useDeleteFiles } from '../tasks/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import {
  Empty,
  FileIcon,
  IconButton,
  LoadError,
  LoadMore,
  useFailureToast,
  visibleName,
  Waiting,
} from '../ui/index.ts'
import TagFilesDialog from './tag-files-dialog.tsx'

const SHOWN_AT_FIRST = 200

const pathOf = ({ parent_path, filename }: TaggedFile) => join(parent_path, filename)

/** The files with a tag: a list whose files can be opened and selected. */
export function TaggedFiles(props: { library: LibraryDetail; tag: LibraryTag }) {
  const { library, tag } = props
  const libraryId = library.repo_id
  const texts = useTexts('annotations')
  const files = useTexts('files')
  const common = useTexts('common')
  const formats = useFormats()
  const { data, error, refetch } = useTaggedFiles(libraryId, tag.repo_tag_id)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [anchor, setAnchor] = useState(0)
  const [shown, setShown] = useState(SHOWN_AT_FIRST)
  const sorted = useMemo(
    () => (data ?? []).toSorted((a, b) => a.filename.localeCompare(b.filename, undefined, { numeric: true })),
    [data],
  )
  if (data === undefined)
    return error ? <LoadError error={error} onRetry={() => void refetch()} /> : <Waiting />
  if (data.length === 0) return <Empty icon={TagIcon} title={texts.noFiles} hint={texts.noFilesHint} />
  const selected = sorted.filter((file) => chosen.has(pathOf(file)))

  /** With Shift, everything from the file that was clicked before. */
  function onCheck(place: number, event: MouseEvent): void {
    const path = pathOf(sorted[place] as TaggedFile)
    const next = new Set(chosen)
    if (event.shiftKey) {
      const [from, to] = [Math.min(anchor, place), Math.max(anchor, place)]
      for (const file of sorted.slice(from, to + 1)) next.add(pathOf(file))
    } else if (!next.delete(path)) next.add(path)
    setChosen(next)
    setAnchor(place)
  }

  return (
    <>
      <TaggedBar library={library} tag={tag} files={selected} onClear={() => setChosen(new Set())} />
      <table className="table tagged-files" aria-label={texts.filesOf(tag.tag_name)}>
        <thead>
          <tr>
            <th className="tagged-check">
              <input
                type="checkbox"
                aria-label={files.selectAll}
                checked={selected.length === sorted.length}
                onChange={(event) => setChosen(new Set(event.target.checked ? sorted.map(pathOf) : []))}
              />
            </th>
            <th>{common.name}</th>
            <th className="tagged-folder">{files.location}</th>
            <th className="tagged-size">{common.size}</th>
            <th className="tagged-time">{common.modified}</th>
          </tr>
        </thead>
        <tbody>
          {sorted.slice(0, shown).map((file, place) => (
            <tr key={pathOf(file)} aria-selected={chosen.has(pathOf(file))}>
              <td className="tagged-check">
                <input
                  type="checkbox"
                  aria-label={files.select(file.filename)}
                  checked={chosen.has(pathOf(file))}
                  readOnly
                  onClick={(event) => onCheck(place, event)}
                />
              </td>
              <td>
                <Link to={fileUrl(libraryId, pathOf(file))} className="tagged-name" title={pathOf(file)}>
                  <FileIcon name={file.filename} size={20} />
                  <bdi>{visibleName(file.filename)}</bdi>
                </Link>
              </td>
              <td className="tagged-folder">
                <Link to={folderUrl(libraryId, file.parent_path)}>
                  <bdi>{file.parent_path === '/' ? library.repo_name : file.parent_path}</bdi>
                </Link>
              </td>
              <td className="tagged-size muted">{formats.size(file.size)}</td>
              <td className="tagged-time muted" title={formats.moment(file.mtime)}>
                {formats.when(file.mtime)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {sorted.length > shown && <LoadMore isBusy={false} onMore={() => setShown(shown + SHOWN_AT_FIRST)} />}
    </>
  )
}

/** Actions on the selected files. */
function TaggedBar(props: {
  library: LibraryDetail
  tag: LibraryTag
  files: readonly TaggedFile[]
  onClear: () => void
}) {
  const { library, tag, files: selected, onClear } = props
  const libraryId = library.repo_id
  const texts = useTexts('annotations')
  const files = useTexts('files')
  const common = useTexts('common')
  const formats = useFormats()
  const failed = useFailureToast()
  const queries = useQueryClient()
  const { data: account } = useAccount()
  const [dialog, setDialog] = useState<'share' | 'tags'>()
  const refresh = () =>
    Promise.all(
      [
        ['tags', libraryId],
        ['dir', libraryId],
      ].map((queryKey) => queries.invalidateQueries({ queryKey })),
    )
  const deleteFiles = useDeleteFiles(refresh)
  const [only] = selected
  if (only === undefined) return null
  const places = selected.map((file) => ({ libraryId, path: pathOf(file) }))
  const label = files.selected(selected.length, formats.number(selected.length))
  const mayEdit = canEdit(library)
  const isOwned = account?.email === library.owner_email
  const close = () => setDialog(undefined)
  const untag = async () => {
    try {
      const paths = places.map(({ path }) => path)
      await changeTagsOf(libraryId, paths, { remove: [tag.repo_tag_id] })
      onClear()
    } catch (error) {
      failed(error)
    } finally {
      await refresh()
    }
  }
  return (
    <div className="tagged-bar" role="toolbar" aria-label={label}>
      <IconButton label={files.clearSelection} icon={X} onClick={onClear} />
      <span role="status">{label}</span>
      <span className="row-actions">
        {canDownload(library) && (
          <IconButton
            label={common.download}
            icon={Download}
            onClick={() => void downloadFiles(places).catch(failed)}
          />
        )}
        {(selected.length === 1 || (isOwned && !library.encrypted)) && (
          <IconButton label={common.share} icon={Share2} onClick={() => setDialog('share')} />
        )}
        {mayEdit && (
          <>
            <IconButton label={texts.manageTags} icon={Tags} onClick={() => setDialog('tags')} />
            <IconButton label={texts.removeTag(tag.tag_name)} icon={TagX} onClick={() => void untag()} />
            <IconButton
              label={common.delete}
              icon={Trash2}
              onClick={() => void deleteFiles(places).then(onClear)}
            />
          </>
        )}
      </span>
      {dialog === 'tags' && <TagFilesDialog files={places} onClose={close} />}
      {dialog === 'share' &&
        (selected.length === 1 ? (
          <ShareDialog
            libraryId={libraryId}
            path={pathOf(only)}
            name={only.filename}
            isDir={false}
            onClose={close}
          />
        ) : (
          <ShareManyDialog
            items={selected.map((file) => ({
              libraryId,
              path: pathOf(file),
              name: file.filename,
              isDir: false,
            }))}
            onClose={close}
          />
        ))}
    </div>
  )
}
