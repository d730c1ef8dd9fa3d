import './annotations.css'
import { useQueryClient } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { type FormEvent, useId, useState } from 'react'
import { Link } from 'wouter'
import {
  changeTagsOf,
  type Entry,
  type FileTag,
  type LibraryDetail,
  makeTag,
  useLibraryTags,
} from '../api/index.ts'
import { tagsUrl } from '../navigation/index.ts'
import { useTexts } from '../texts/index.ts'
import { Button, useFailureToast } from '../ui/index.ts'
import { nextColor, safeColor } from './tag-colors.ts'

const MAX_NAME = 60

/** A selected file and its path. */
interface TaggedEntry {
  readonly entry: Entry
  readonly path: string
}

/** The tags that all selected files have, with a field to add one. A new name creates a tag of the library. */
export default function TagEditor(props: { library: LibraryDetail; files: readonly TaggedEntry[] }) {
  const { library, files } = props
  const libraryId = library.repo_id
  const texts = useTexts('annotations')
  const queries = useQueryClient()
  const failed = useFailureToast()
  const id = useId()
  const { data: known = [] } = useLibraryTags(libraryId)
  const [typed, setTyped] = useState('')
  const [isBusy, setBusy] = useState(false)
  const mayWrite = library.permission === 'rw' && library.status !== 'read-only'
  const shared = sharedTags(files)
  const paths = files.map(({ path }) => path)

  async function change(work: () => Promise<unknown>): Promise<void> {
    setBusy(true)
    try {
      await work()
      setTyped('')
    } catch (error) {
      failed(error)
    } finally {
      await Promise.all([
        queries.invalidateQueries({ queryKey: ['tags', libraryId] }),
        queries.invalidateQueries({ queryKey: ['dir', libraryId] }),
      ])
      setBusy(false)
    }
  }

  async function add(event: FormEvent): Promise<void> {
    event.preventDefault()
    const name = typed.trim()
    if (name === '' || isBusy) return
    await change(async () => {
      const same = known.find(({ tag_name }) => tag_name.toLowerCase() === name.toLowerCase())
      const colors = known.map(({ tag_color }) => tag_color)
      const tag = same ?? (await makeTag(libraryId, name, nextColor(colors)))
      await changeTagsOf(libraryId, paths, { add: [tag.repo_tag_id] })
    })
  }

  const remove = (tagId: number) => change(() => changeTagsOf(libraryId, paths, { remove: [tagId] }))

  if (!mayWrite && shared.length === 0) return null
  return (
    <section className="tags" aria-label={texts.tags}>
      <h3>{texts.tags}</h3>
      {shared.length > 0 && (
        <ul className="tag-list">
          {shared.map((tag) => (
            <li key={tag.repo_tag_id} className="tag-chip">
              <span className="tag-dot" style={{ background: safeColor(tag.tag_color) }} />
              <Link to={tagsUrl(libraryId, tag.repo_tag_id)}>
                <bdi>{tag.tag_name}</bdi>
              </Link>
              {mayWrite && (
                <button
                  type="button"
                  aria-label={texts.removeTag(tag.tag_name)}
                  disabled={isBusy}
                  onClick={() => void remove(tag.repo_tag_id)}
                >
                  <X size={14} aria-hidden />
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      {mayWrite && (
        <form className="tag-form" onSubmit={(event) => void add(event)}>
          <input
            className="input"
            aria-label={texts.addTag}
            placeholder={texts.addTag}
            list={`${id}-known`}
            maxLength={MAX_NAME}
            autoComplete="off"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
          <datalist id={`${id}-known`}>
            {known.map(({ repo_tag_id, tag_name }) => (
              <option key={repo_tag_id} value={tag_name} />
            ))}
          </datalist>
          <Button type="submit" busy={isBusy} disabled={typed.trim() === ''}>
            {texts.addShort}
          </Button>
        </form>
      )}
    </section>
  )
}

/** The tags that all files have. */
function sharedTags(files: readonly TaggedEntry[]): readonly FileTag[] {
  const [first, ...rest] = files
  return (first?.entry.file_tags ?? []).filter(({ repo_tag_id }) =>
    rest.every(({ entry }) => entry.file_tags?.some((tag) => tag.repo_tag_id === repo_tag_id)),
  )
}
