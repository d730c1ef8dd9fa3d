import './sharing.css'
import './people-field.css'
import { X } from 'lucide-react'
import { type ClipboardEvent, type KeyboardEvent, useId, useState } from 'react'
import { type Person, useFoundPeople } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { useDebounced } from '../ui/index.ts'
import { optionId, PeopleOptions } from './people-options.tsx'

const SEVERAL = /[,;\s]+/
const ADDRESS = /^[^@\s]+@[^@\s]+$/

/** Selects people with suggestions by name or address. A list of addresses can be pasted. */
export function PeopleField(props: {
  label: string
  chosen: readonly Person[]
  onChange: (people: readonly Person[]) => void
  /** Addresses that are excluded from the suggestions. */
  without?: readonly string[]
  /** Allows only one person. */
  single?: boolean
}) {
  const texts = useTexts('sharing')
  const id = useId()
  const listId = `${id}-found`
  const [typed, setTyped] = useState('')
  const [marked, setMarked] = useState(0)
  const words = useDebounced(typed.trim())
  const { data, isFetching } = useFoundPeople(typed.trim() === '' ? '' : words)
  const taken = new Set([...(props.without ?? []), ...props.chosen.map(({ email }) => email)])
  const found = (data ?? []).filter(({ email }) => !taken.has(email))
  const open = typed.trim() !== ''
  const current = found[Math.min(marked, found.length - 1)]

  function choose(person: Person): void {
    props.onChange(props.single ? [person] : [...props.chosen, person])
    setTyped('')
    setMarked(0)
  }

  function onKeyDown(event: KeyboardEvent): void {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0 && found.length > 0) {
      event.preventDefault()
      setMarked((Math.min(marked, found.length - 1) + step + found.length) % found.length)
    } else if (event.key === 'Enter' && open) {
      event.preventDefault()
      if (current !== undefined && words === typed.trim()) choose(current)
    } else if (event.key === 'Escape' && open) {
      event.stopPropagation()
      setTyped('')
    } else if (event.key === 'Backspace' && typed === '') {
      props.onChange(props.chosen.slice(0, -1))
    }
  }

  function onPaste(event: ClipboardEvent): void {
    const addresses = event.clipboardData.getData('text').split(SEVERAL).filter(Boolean)
    if (props.single || addresses.length < 2 || !addresses.every((one) => ADDRESS.test(one))) return
    event.preventDefault()
    const fresh = [...new Set(addresses)].filter((email) => !taken.has(email))
    props.onChange([...props.chosen, ...fresh.map((email) => ({ email, name: email, contact_email: email }))])
  }

  return (
    <div className="field people">
      <label className="field-label" htmlFor={id}>
        {props.label}
      </label>
      <div className="people-box">
        {props.chosen.map((person) => (
          <span key={person.email} className="people-chip" title={person.email}>
            <bdi>{person.name}</bdi>
            <button
              type="button"
              aria-label={texts.takeBack(person.name)}
              onClick={() => props.onChange(props.chosen.filter(({ email }) => email !== person.email))}
            >
              <X size={14} aria-hidden />
            </button>
          </span>
        ))}
        <input
          id={id}
          role="combobox"
          aria-expanded={open}
          aria-controls={listId}
          aria-autocomplete="list"
          aria-activedescendant={open && current ? optionId(listId, current) : undefined}
          autoComplete="off"
          placeholder={props.chosen.length === 0 ? texts.peoplePlaceholder : ''}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value)
            setMarked(0)
          }}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
      </div>
      {open && (
        <PeopleOptions id={listId} label={texts.found} people={found} current={current} onChoose={choose}>
          {found.length === 0 && (
            <li className="people-nobody muted" role="option" aria-selected={false} aria-disabled>
              {isFetching || words !== typed.trim() ? texts.searching : texts.nobodyFound}
            </li>
          )}
        </PeopleOptions>
      )}
    </div>
  )
}
