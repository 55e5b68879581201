package io.github.roost.topology;

import java.io.ByteArrayInputStream;
import java.util.Set;
import java.util.regex.Pattern;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/** Checks that the objects in an hwloc XML document have their CPU and node sets. hwloc does not, and crashes if one is missing. */
final class XmlSets {
    /** Objects outside the tree of CPUs and memory. */
    private static final Set<String> WITHOUT_SETS = Set.of("Misc", "Bridge", "PCIDev", "OSDev");

    private static final Set<String> SETS = Set.of("cpuset", "complete_cpuset", "nodeset", "complete_nodeset");
    private static final Pattern SET = Pattern.compile("0x[0-9a-f]{1,16}(,(0x[0-9a-f]{1,16})?+)*+|0xf\\.\\.\\.f.*");

    private XmlSets() {}

    /** @throws TopologyException if it is not XML, or an object lacks a set; the message names the object's line */
    static void require(String name, byte[] xml) {
        XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        try {
            XMLStreamReader reader = factory.createXMLStreamReader(new ByteArrayInputStream(xml));
            while (reader.hasNext()) {
                if (reader.next() == XMLStreamConstants.START_ELEMENT
                        && reader.getLocalName().equals("object")) {
                    requireSets(name, reader);
                }
            }
        } catch (XMLStreamException broken) {
            throw new TopologyException(name + ": it is not XML: " + broken.getMessage(), broken);
        }
    }

    private static void requireSets(String name, XMLStreamReader object) {
        String type = object.getAttributeValue(null, "type");
        if (type == null || !WITHOUT_SETS.contains(type)) {
            for (String set : SETS) {
                String value = object.getAttributeValue(null, set);
                if (value == null || !SET.matcher(value).matches()) {
                    throw new TopologyException("%s: line %d: an object of type %s must have a %s, got %s"
                            .formatted(name, object.getLocation().getLineNumber(), type, set, value));
                }
            }
        }
    }
}
