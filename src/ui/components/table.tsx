import type { ComponentChildren, JSX } from 'preact';

export interface Column {
  readonly title: ComponentChildren;
  /** Whether the cells are numbers, which are aligned to the right. */
  readonly isNumber?: boolean;
  /** The title is for screen readers only, as above buttons. */
  readonly isUnseen?: boolean;
}

/**
 * Rows are `<tr>`s. On narrow screens the table scrolls on its own, and its first column stays; a stacked one shows each row
 * as a block instead, so that its actions are in sight. Its cells name themselves there by `data-label`.
 */
export function Table({
  columns,
  label,
  isStacked = false,
  children,
}: {
  readonly columns: readonly Column[];
  readonly label: string;
  readonly isStacked?: boolean;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div class={isStacked ? 'scroll stacked' : 'scroll listing'} role="group" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(({ title, isNumber, isUnseen }, index) => (
              <th scope="col" key={index} class={isNumber === true ? 'number' : undefined}>
                {isUnseen === true ? <span class="unseen">{title}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** Pairs of a name and a value. */
export function Facts({
  rows,
}: {
  readonly rows: readonly (readonly [ComponentChildren, ComponentChildren])[];
}): JSX.Element {
  return (
    <dl>
      {rows.map(([name, value], index) => [
        <dt key={`n${index}`}>{name}</dt>,
        <dd key={`v${index}`}>{value}</dd>,
      ])}
    </dl>
  );
}

/** The most important figures, side by side. */
export function Tiles({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <div class="tiles">{children}</div>;
}

export function Tile({
  name,
  note,
  children,
}: {
  readonly name: ComponentChildren;
  readonly note?: ComponentChildren;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div class="tile">
      <span>{name}</span>
      <strong>{children}</strong>
      {note === undefined ? null : <small>{note}</small>}
    </div>
  );
}
