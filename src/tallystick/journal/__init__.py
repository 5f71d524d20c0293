"""The durable journal: records, chains, blobs, anchors. It knows no subject: a record is a type name and a payload."""
