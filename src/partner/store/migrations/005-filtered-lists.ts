/** What lists are asked for by: without these a filter that fits nothing looks through all that a partner has. */
export const filteredLists = (): readonly string[] => [
  'CREATE INDEX events_of_customer ON events (partner_id, customer_id, seq)',
  'CREATE INDEX events_of_kind ON events (partner_id, kind, seq)',
  'CREATE INDEX deliveries_of_status ON deliveries (partner_id, endpoint_id, status, id)',
];
