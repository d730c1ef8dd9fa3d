import { useState } from 'react'
import { changeTag, type LibraryTag, makeTag, mergeTag } from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { FormDialog, SelectField, TextField } from '../ui/index.ts'
import { nextColor, safeColor, type TagColorName, tagColors } from './tag-colors.ts'

const MAX_NAME = 60

/** Creates a tag, or changes the name and the color of one. */
export function TagDialog(props: {
  libraryId: string
  /** All tags of the library. */
  tags: readonly LibraryTag[]
  /** Undefined to create one. */
  tag: LibraryTag | undefined
  onSaved: () => Promise<unknown>
  onClose: () => void
}) {
  const { libraryId, tags, tag } = props
  const texts = useTexts('annotations')
  const common = useTexts('common')
  const [name, setName] = useState(tag?.tag_name ?? '')
  const [color, setColor] = useState(
    () => tag?.tag_color ?? nextColor(tags.map(({ tag_color }) => tag_color)),
  )
  const choices = Object.entries(tagColors) as [TagColorName, string][]
  // A color that another client chose.
  const own = choices.some(([, value]) => value === color.toLowerCase()) ? undefined : color
  async function save(): Promise<void> {
    const values = { name: name.trim(), color }
    if (tag === undefined) await makeTag(libraryId, values.name, color)
    else await changeTag(libraryId, tag.repo_tag_id, values)
    await props.onSaved()
  }
  return (
    <FormDialog
      title={tag === undefined ? texts.newTag : texts.editTag}
      submit={tag === undefined ? common.create : common.save}
      disabled={name.trim() === ''}
      onSubmit={save}
      onClose={props.onClose}
    >
      <TextField
        label={common.name}
        value={name}
        maxLength={MAX_NAME}
        autoFocus
        onChange={(event) => setName(event.target.value)}
      />
      <fieldset className="tag-colors">
        <legend className="field-label">{texts.color}</legend>
        {choices.map(([key, value]) => (
          <ColorChoice
            key={key}
            label={texts.colors[key]}
            value={value}
            isChosen={color.toLowerCase() === value}
            onChoose={setColor}
          />
        ))}
        {own !== undefined && <ColorChoice label={own} value={own} isChosen onChoose={setColor} />}
      </fieldset>
    </FormDialog>
  )
}

function ColorChoice(props: {
  label: string
  value: string
  isChosen: boolean
  onChoose: (color: string) => void
}) {
  return (
    <label className="tag-color" title={props.label} style={{ background: safeColor(props.value) }}>
      <input
        type="radio"
        name="tag-color"
        aria-label={props.label}
        checked={props.isChosen}
        onChange={() => props.onChoose(props.value)}
      />
    </label>
  )
}

/** Replaces a tag by another one at all its files, and deletes it. */
export function MergeTagDialog(props: {
  libraryId: string
  tag: LibraryTag
  others: readonly LibraryTag[]
  onMerged: (into: number) => Promise<unknown>
  onClose: () => void
}) {
  const { libraryId, tag, others } = props
  const texts = useTexts('annotations')
  const formats = useFormats()
  const [into, setInto] = useState(String(others[0]?.repo_tag_id ?? ''))
  return (
    <FormDialog
      title={texts.mergeTitle(tag.tag_name)}
      submit={texts.mergeTag}
      danger
      onSubmit={async () => {
        await mergeTag(libraryId, tag.repo_tag_id, Number(into))
        await props.onMerged(Number(into))
      }}
      onClose={props.onClose}
    >
      <p>{texts.mergeHint(tag.files_count, formats.number(tag.files_count))}</p>
      <SelectField label={texts.mergeInto} value={into} onChange={(event) => setInto(event.target.value)}>
        {others.map(({ repo_tag_id, tag_name }) => (
          <option key={repo_tag_id} value={repo_tag_id}>
            {tag_name}
          </option>
        ))}
      </SelectField>
    </FormDialog>
  )
}
