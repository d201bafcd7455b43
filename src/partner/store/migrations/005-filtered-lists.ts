/** Indexes for filtered lists: without them, a filter that matches nothing reads all rows of a partner. */
export const filteredLists = (): readonly string[] => [
  'CREATE INDEX events_of_customer ON events (partner_id, customer_id, seq)',
  'CREATE INDEX events_of_kind ON events (partner_id, kind, seq)',
  'CREATE INDEX deliveries_of_status ON deliveries (partner_id, endpoint_id, status, id)',
];
