import './people-options.css'
import type { ReactNode } from 'react'
import type { Person } from '../api/index.ts'
import { Avatar } from '../ui/index.ts'

/** The suggested people below a field, as the list box of a combobox. The field keeps the focus. */
export function PeopleOptions(props: {
  /** Of the list; an option has the id that `optionId` returns. */
  id: string
  label: string
  people: readonly Person[]
  current: Person | undefined
  onChoose: (person: Person) => void
  className?: string
  /** Shown below the people. */
  children?: ReactNode
}) {
  return (
    <ul
      id={props.id}
      className={`people-options ${props.className ?? ''}`}
      role="listbox"
      aria-label={props.label}
    >
      {props.people.map((person) => (
        <li
          key={person.email}
          id={optionId(props.id, person)}
          role="option"
          aria-selected={person === props.current}
          onPointerDown={(event) => {
            event.preventDefault()
            props.onChoose(person)
          }}
        >
          <Avatar email={person.email} name={person.name} url={person.avatar_url} size={28} />
          <span className="people-names">
            <bdi>{person.name}</bdi>
            <bdi className="muted">{person.email}</bdi>
          </span>
        </li>
      ))}
      {props.children}
    </ul>
  )
}

/** For `aria-activedescendant` of the field. */
export function optionId(listId: string, person: Person): string {
  return `${listId}-${person.email}`
}
