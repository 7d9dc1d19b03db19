// A list from which one column is chosen.
import { labelOf, type Column } from './study_data';
import { h } from './ui';

const GROUPS: [Column['kind'], string][] = [['variant', 'Variants'], ['parameter', 'Parameters'], ['output', 'Outputs'], ['statistic', 'Run']];

export function chooser(id: string, label: string, columns: Column[], chosen: Column, changed: (column: Column) => void): HTMLSelectElement {
  const select = h('select', { id, 'aria-label': label });
  for (const [kind, title] of GROUPS) {
    const options = columns.flatMap((column, i) => (column.kind === kind ? [h('option', { value: i }, labelOf(column))] : []));
    if (options.length > 0) select.append(h('optgroup', { label: title }, ...options));
  }
  select.value = String(columns.indexOf(chosen));
  select.addEventListener('change', () => changed(columns[Number(select.value)]));
  return select;
}
