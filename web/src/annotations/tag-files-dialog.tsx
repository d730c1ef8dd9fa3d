import './annotations.css'
import { useQueries, useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import {
  changeTagsOf,
  type FileAt,
  type FileTag,
  type LibraryTag,
  libraryTagsQuery,
  makeTag,
} from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Button, FormDialog } from '../ui/index.ts'
import { nextColor, safeColor } from './tag-colors.ts'

const MAX_NAME = 60

/** A file, and its tags if the caller knows them. */
export interface TaggableFile extends FileAt {
  readonly tags?: readonly FileTag[] | undefined
}

/** A tag by its name, which may exist in several libraries. */
interface NamedTag {
  readonly name: string
  readonly color: string
  /** How many of the files have it. */
  readonly files: number
}

const folded = (name: string) => name.normalize('NFC').toLowerCase()

/**
 * Adds tags to several files and removes tags from them. Tags belong to a library, so files of several libraries get
 * the tag of that name in each. Without known tags of the files, tags can only be added.
 */
export default function TagFilesDialog(props: { files: readonly TaggableFile[]; onClose: () => void }) {
  const { files, onClose } = props
  const texts = useTexts('annotations')
  const common = useTexts('common')
  const formats = useFormats()
  const queries = useQueryClient()
  const libraryIds = [...new Set(files.map(({ libraryId }) => libraryId))]
  const known = useQueries({ queries: libraryIds.map(libraryTagsQuery) })
  const [made, setMade] = useState<readonly string[]>([])
  const [wanted, setWanted] = useState<ReadonlyMap<string, boolean>>(new Map())
  const [typed, setTyped] = useState('')
  const tags = namedTags(
    known.flatMap(({ data = [] }) => data),
    made,
    files,
  )

  const toggle = (name: string, isOn: boolean) => setWanted(new Map(wanted).set(folded(name), isOn))
  const add = () => {
    const name = typed.trim()
    if (name === '') return
    if (!tags.some((tag) => folded(tag.name) === folded(name))) setMade([...made, name])
    toggle(name, true)
    setTyped('')
  }

  async function save(): Promise<void> {
    // A name that was typed but not added counts, too.
    const last = typed.trim()
    const changes = last === '' ? wanted : new Map(wanted).set(folded(last), true)
    const color = nextColor(tags.map((tag) => tag.color))
    const named = new Map([{ name: last, color }, ...tags].map((tag) => [folded(tag.name), tag]))
    try {
      for (const [index, libraryId] of libraryIds.entries()) {
        const paths = files.filter((file) => file.libraryId === libraryId).map(({ path }) => path)
        const existing = known[index]?.data ?? []
        const add: number[] = []
        const remove: number[] = []
        for (const [key, isOn] of changes) {
          const same = existing.find(({ tag_name }) => folded(tag_name) === key)
          if (!isOn) remove.push(...(same === undefined ? [] : [same.repo_tag_id]))
          else
            add.push(
              (same ?? (await makeNamed(libraryId, named.get(key) ?? { name: key, color }))).repo_tag_id,
            )
        }
        await changeTagsOf(libraryId, paths, { add, remove })
      }
    } finally {
      await Promise.all(
        libraryIds.flatMap((id) =>
          [
            ['tags', id],
            ['dir', id],
          ].map((queryKey) => queries.invalidateQueries({ queryKey })),
        ),
      )
    }
  }

  return (
    <FormDialog
      title={texts.tagFiles(files.length, formats.number(files.length))}
      submit={common.save}
      disabled={wanted.size === 0 && typed.trim() === ''}
      onSubmit={save}
      onClose={onClose}
    >
      {tags.length === 0 ? (
        <p className="muted">{texts.noTags}</p>
      ) : (
        <fieldset className="tag-choices">
          <legend className="visually-hidden">{texts.tags}</legend>
          {tags.map((tag) => {
            const isOn = wanted.get(folded(tag.name))
            const has = tag.files === files.length
            return (
              <label key={tag.name} className="tag-choice">
                <input
                  type="checkbox"
                  checked={isOn ?? has}
                  ref={(box) => {
                    if (box !== null) box.indeterminate = isOn === undefined && tag.files > 0 && !has
                  }}
                  onChange={(event) => toggle(tag.name, event.target.checked)}
                />
                <span className="tag-dot" style={{ background: safeColor(tag.color) }} />
                <bdi>{tag.name}</bdi>
              </label>
            )
          })}
        </fieldset>
      )}
      <div className="tag-form">
        <input
          className="input"
          aria-label={texts.newTag}
          placeholder={texts.newTag}
          maxLength={MAX_NAME}
          autoComplete="off"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.nativeEvent.isComposing || typed.trim() === '') return
            event.preventDefault()
            add()
          }}
        />
        <Button icon={Plus} disabled={typed.trim() === ''} onClick={add}>
          {texts.addShort}
        </Button>
      </div>
    </FormDialog>
  )
}

/** The tags of the libraries and those just typed, each name once, by name. */
function namedTags(
  known: readonly LibraryTag[],
  made: readonly string[],
  files: readonly TaggableFile[],
): NamedTag[] {
  const counts = new Map<string, number>()
  for (const { tags = [] } of files)
    for (const { tag_name } of tags) counts.set(folded(tag_name), (counts.get(folded(tag_name)) ?? 0) + 1)
  const found = new Map<string, NamedTag>()
  const put = (name: string, color: string) => {
    const files = counts.get(folded(name)) ?? 0
    if (!found.has(folded(name))) found.set(folded(name), { name, color, files })
  }
  for (const { tag_name, tag_color } of known) put(tag_name, tag_color)
  for (const name of made) put(name, nextColor(Array.from(found.values(), ({ color }) => color)))
  return [...found.values()].sort((a, b) => a.name.localeCompare(b.name))
}

const makeNamed = (libraryId: string, { name, color }: Pick<NamedTag, 'name' | 'color'>) =>
  makeTag(libraryId, name, color)
