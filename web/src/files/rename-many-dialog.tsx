import { MoveRight, Plus } from 'lucide-react'
import { useMemo, useRef, useState } from 'react'
import type { Entry } from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Button, FormDialog, SelectField, TextField, visibleName } from '../ui/index.ts'
import { PLACEHOLDERS, type Placeholder, type PlannedName, planNames, type RenameRule } from './new-names.ts'
import type { Changes } from './use-entry-changes.ts'

/** Rows of the preview. Those with a problem come first. */
const MAX_SHOWN = 100
const MAX_START = 1_000_000

/** Renames several entries by a rule, with their new names before it happens. */
export function RenameManyDialog(props: {
  entries: readonly Entry[]
  /** The names of all entries of the folder. */
  names: readonly string[]
  changes: Changes
  onClose: () => void
}) {
  const { entries, names, changes, onClose } = props
  const texts = useTexts('files')
  const common = useTexts('common')
  const [kind, setKind] = useState<RenameRule['kind']>('pattern')
  const [find, setFind] = useState('')
  const [replacement, setReplacement] = useState('')
  const [pattern, setPattern] = useState('{name} {number}')
  const [start, setStart] = useState(1)
  const digits = String(start + entries.length - 1).length
  const others = useMemo(() => {
    const renamed = new Set(entries.map(({ name }) => name))
    return new Set(names.filter((name) => !renamed.has(name)))
  }, [entries, names])
  const planned = useMemo(() => {
    const rule: RenameRule =
      kind === 'replace' ? { kind, find, replacement } : { kind, pattern, start, digits }
    return planNames(entries, others, rule)
  }, [entries, others, kind, find, replacement, pattern, start, digits])
  const changed = planned.filter(({ entry, newName }) => newName !== entry.name)
  const isFaulty = planned.some(({ problem }) => problem !== undefined)
  return (
    <FormDialog
      wide
      title={texts.renameManyTitle(entries.length)}
      submit={common.rename}
      disabled={isFaulty || changed.length === 0}
      onClose={onClose}
      onSubmit={() => changes.renameMany(changed)}
    >
      <SelectField
        label={texts.renameHow}
        value={kind}
        onChange={({ target }) => setKind(target.value === 'replace' ? 'replace' : 'pattern')}
      >
        <option value="pattern">{texts.renameByPattern}</option>
        <option value="replace">{texts.renameByReplacing}</option>
      </SelectField>
      {kind === 'replace' ? (
        <div className="files-rename-fields">
          <TextField
            label={texts.renameFind}
            value={find}
            spellCheck={false}
            onChange={({ target }) => setFind(target.value)}
          />
          <TextField
            label={texts.renameReplacement}
            value={replacement}
            spellCheck={false}
            onChange={({ target }) => setReplacement(target.value)}
          />
        </div>
      ) : (
        <>
          <PatternField value={pattern} onChange={setPattern} />
          <TextField
            label={texts.renameStart}
            type="number"
            min={0}
            max={MAX_START}
            value={start}
            onChange={({ target }) => setStart(startOf(target.valueAsNumber))}
          />
        </>
      )}
      <Preview planned={planned} />
    </FormDialog>
  )
}

const startOf = (typed: number) =>
  Number.isFinite(typed) ? Math.min(MAX_START, Math.max(0, Math.floor(typed))) : 0

/** The pattern, with a button for each placeholder. */
function PatternField(props: { value: string; onChange: (pattern: string) => void }) {
  const { value, onChange } = props
  const texts = useTexts('files')
  const field = useRef<HTMLInputElement>(null)
  const insert = (placeholder: Placeholder) => {
    const at = field.current?.selectionStart ?? value.length
    const end = field.current?.selectionEnd ?? at
    const token = `{${placeholder}}`
    onChange(`${value.slice(0, at)}${token}${value.slice(end)}`)
    field.current?.focus()
  }
  return (
    <div className="files-rename-pattern">
      <TextField
        ref={field}
        label={texts.renamePattern}
        hint={texts.renameKeepsExtension}
        value={value}
        autoFocus
        spellCheck={false}
        onChange={({ target }) => onChange(target.value)}
      />
      <div className="files-rename-tokens" role="group" aria-label={texts.renameInsert}>
        {PLACEHOLDERS.map((placeholder) => (
          <Button key={placeholder} icon={Plus} onClick={() => insert(placeholder)}>
            {texts.renamePlaceholders[placeholder]}
          </Button>
        ))}
      </div>
    </div>
  )
}

function Preview({ planned }: { planned: readonly PlannedName[] }) {
  const texts = useTexts('files')
  const formats = useFormats()
  const faulty = planned.filter(({ problem }) => problem !== undefined)
  const shown = [...faulty, ...planned.filter(({ problem }) => problem === undefined)].slice(0, MAX_SHOWN)
  const left = planned.length - shown.length
  return (
    <section className="files-rename-preview" aria-label={texts.renamePreview}>
      {faulty.length > 0 && (
        <p className="field-error" role="status">
          {texts.renameConflicts(faulty.length)}
        </p>
      )}
      {/* Scrollable by keyboard. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <ul tabIndex={0}>
        {shown.map(({ entry, newName, problem }) => (
          <li key={entry.name} className={problem ? 'files-rename-faulty' : ''}>
            <bdi className="files-rename-old">{visibleName(entry.name)}</bdi>
            <MoveRight size={16} aria-hidden />
            <span className="files-rename-new">
              <bdi>{visibleName(newName)}</bdi>
              {problem && <span className="field-error">{texts.renameProblems[problem]}</span>}
            </span>
          </li>
        ))}
        {left > 0 && <li className="muted">{texts.renameMore(left, formats.number(left))}</li>}
      </ul>
    </section>
  )
}
